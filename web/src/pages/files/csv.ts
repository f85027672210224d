/** The rows of comma-separated values, with quotes and line ends in them. */
export function parseCSV(text: string, mostRows: number): { rows: string[][]; cut: boolean } {
  const first = text.slice(0, text.indexOf("\n") >>> 0);
  const separator = [",", "\t", ";"].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a));
  const rows: string[][] = [];
  let row: string[] = [];
  let value = "";
  let quoted = false;
  const endRow = () => {
    rows.push([...row, value]);
    row = [];
    value = "";
  };
  for (let i = 0; i < text.length; i++) {
    if (rows.length >= mostRows) return { rows, cut: true };
    const c = text[i]!;
    if (quoted) {
      if (c !== '"') value += c;
      else if (text[i + 1] === '"') value += text[i++];
      else quoted = false;
    } else if (c === '"' && value === "") quoted = true;
    else if (c === separator) {
      row.push(value);
      value = "";
    } else if (c === "\n") endRow();
    else if (c !== "\r" || text[i + 1] !== "\n") value += c;
  }
  if (value !== "" || row.length > 0) endRow();
  return { rows, cut: false };
}
