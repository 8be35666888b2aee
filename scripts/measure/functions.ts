/**
 * Lists the named functions of parsed files.
 *
 * @module
 */

import ts from "typescript";
import { type SourceFile, walk } from "./source_files.ts";

/** A function, method, accessor or constructor with a body. */
export interface NamedFunction {
  /** Name such as `parse`, `#repair`, `get size` or `constructor`. */
  name: string;
  /** File and line: `src/core/a.ts:12`. */
  location: string;
  /** Number of lines from its declaration to its closing brace. */
  lines: number;
  /** Number of lines between its braces, or of the expression of an arrow function. */
  bodyLines: number;
  node: ts.FunctionLikeDeclaration;
}

/** Lists the functions that have a name of their own or are assigned to one. */
export function listFunctions(files: readonly SourceFile[]): NamedFunction[] {
  return files.flatMap(({ path, ast }) => {
    const functions: NamedFunction[] = [];
    walk(ast, (node) => {
      const name = getFunctionName(node);
      if (name === undefined || !isFunctionWithBody(node)) return;
      const first = lineAt(ast, node.getStart());
      const lines = lineAt(ast, node.getEnd()) - first + 1;
      const bodyLines = countBodyLines(ast, node.body);
      functions.push({ name, location: `${path}:${first}`, lines, bodyLines, node });
    });
    return functions;
  });
}

/** Returns the name of a function; `undefined` for callbacks and for nodes that are no functions. */
export function getFunctionName(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (ts.isGetAccessor(node)) return `get ${node.name.getText()}`;
  if (ts.isSetAccessor(node)) return `set ${node.name.getText()}`;
  if (ts.isFunctionDeclaration(node)) return node.name?.text ?? "default";
  if (ts.isMethodDeclaration(node)) return node.name.getText();
  if (!ts.isFunctionExpression(node) && !ts.isArrowFunction(node)) return undefined;
  const { parent } = node;
  if (ts.isFunctionExpression(node) && node.name) return node.name.text;
  const isAssigned = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent);
  return isAssigned ? parent.name.getText() : undefined;
}

function countBodyLines(ast: ts.SourceFile, body: ts.Node): number {
  const lines = lineAt(ast, body.getEnd()) - lineAt(ast, body.getStart()) + 1;
  return ts.isBlock(body) ? Math.max(lines - 2, 0) : lines;
}

function isFunctionWithBody(
  node: ts.Node,
): node is ts.FunctionLikeDeclaration & { body: ts.Node } {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

function lineAt(ast: ts.SourceFile, position: number): number {
  return ast.getLineAndCharacterOfPosition(position).line + 1;
}
