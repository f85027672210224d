/** The rows of comma-separated values, with quotes and line ends in them. Of a
 * row with more than mostColumns values the rest is left out. */
export function parseCSV(text: string, mostRows: number, mostColumns: number): { rows: string[][]; cut: boolean } {
  const first = text.slice(0, text.indexOf("\n") >>> 0);
  const separator = [",", "\t", ";"].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a));
  const rows: string[][] = [];
  let row: string[] = [];
  let value = "";
  let quoted = false;
  let cut = false;
  const endValue = () => {
    if (row.length < mostColumns) row.push(value);
    else cut = true;
    value = "";
  };
  const endRow = () => {
    endValue();
    rows.push(row);
    row = [];
  };
  for (let i = 0; i < text.length; i++) {
    if (rows.length >= mostRows) return { rows, cut: true };
    const c = text[i]!;
    if (quoted) {
      if (c !== '"') value += c;
      else if (text[i + 1] === '"') value += text[i++];
      else quoted = false;
    } else if (c === '"' && value === "") quoted = true;
    else if (c === separator) endValue();
    else if (c === "\n") endRow();
    else if (c !== "\r" || text[i + 1] !== "\n") value += c;
  }
  if (value !== "" || row.length > 0) endRow();
  return { rows, cut };
}
