/**
 * Reads the comments of TypeScript source text.
 *
 * @module
 */

import ts from "typescript";

/** Matches a comment in source text without literals. */
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** The comments of each source text that was read, since several tests read those of all files. */
const known = new Map<string, readonly string[]>();

/** Returns the text of each comment, delimiters included. */
export function getComments(source: string): readonly string[] {
  const comments = known.get(source) ?? readComments(source);
  known.set(source, comments);
  return comments;
}

function readComments(source: string): readonly string[] {
  const comments: string[] = [];
  let position = 0;
  for (const { start, end } of [...findLiterals(source), { start: source.length, end: 0 }]) {
    comments.push(...source.slice(position, start).match(COMMENT) ?? []);
    position = end;
  }
  return comments;
}

/** Returns the ranges of strings, parts of templates and regular expressions, whose text could look like a comment. */
function findLiterals(source: string): { start: number; end: number }[] {
  const ast = ts.createSourceFile("a.ts", source, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const literals: { start: number; end: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isTemplateHead(node)
    ) {
      literals.push({ start: node.getStart(ast), end: node.end });
    }
    ts.forEachChild(node, visit);
  };
  visit(ast);
  return literals;
}
