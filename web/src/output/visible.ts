// Names and paths come from anybody. Characters that are not seen, or that turn
// the text around them, would let one name pass for another.

const unseen = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A name with such characters written out, "\u{202e}". */
export function visible(name: string): string {
  return name.replace(unseen, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}
