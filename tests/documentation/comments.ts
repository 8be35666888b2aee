/**
 * Reads the comments of TypeScript source text.
 *
 * @module
 */

import ts from "typescript";

/** Returns the text of each comment, delimiters included. */
export function getComments(source: string): string[] {
  const ast = ts.createSourceFile("a.ts", source, ts.ScriptTarget.Latest, true);
  const comments = new Map<number, string>();
  function visit(node: ts.Node): void {
    const ranges = [
      ...ts.getLeadingCommentRanges(source, node.getFullStart()) ?? [],
      ...ts.getTrailingCommentRanges(source, node.getEnd()) ?? [],
    ];
    for (const { pos, end } of ranges) comments.set(pos, source.slice(pos, end));
    for (const child of node.getChildren()) visit(child);
  }
  visit(ast);
  return [...comments].toSorted(([a], [b]) => a - b).map(([, comment]) => comment);
}
