/**
 * Word wrapping of complete texts.
 *
 * @module
 */

/** Wraps a text to lines of at most `columns` characters; a longer word gets its own line. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (word === "") continue;
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && longer.length > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === "" ? lines : [...lines, line];
}
