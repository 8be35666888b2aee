/**
 * Finds private functions that are called exactly once.
 *
 * @module
 */

import ts from "typescript";
import { listFunctions, type NamedFunction } from "./functions.ts";
import { type SourceFile, walk } from "./source_files.ts";

/** Finds functions that are not exported, and private methods, whose only reference is a call. */
export function findSingleUseFunctions(files: readonly SourceFile[]): NamedFunction[] {
  return files.flatMap((file) => {
    const references = collectReferences(file);
    return listFunctions([file]).filter(({ name, node }) => {
      if (!isPrivate(node)) return false;
      const [first, ...others] = references.get(name) ?? [];
      return first !== undefined && others.length === 0 && isCall(first);
    });
  });
}

function isPrivate(node: ts.FunctionLikeDeclaration): boolean {
  if (ts.isFunctionDeclaration(node)) return !hasModifier(node, ts.SyntaxKind.ExportKeyword);
  if (ts.isMethodDeclaration(node)) {
    return ts.isPrivateIdentifier(node.name) || hasModifier(node, ts.SyntaxKind.PrivateKeyword);
  }
  const { parent } = node;
  if (!ts.isVariableDeclaration(parent)) return false;
  const statement = parent.parent.parent;
  return !ts.isVariableStatement(statement) ||
    !hasModifier(statement, ts.SyntaxKind.ExportKeyword);
}

function hasModifier(node: ts.HasModifiers, kind: ts.SyntaxKind): boolean {
  return node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
}

/** Maps each name to its references in a file, without declarations. */
function collectReferences({ ast }: SourceFile): Map<string, ts.Node[]> {
  const references = new Map<string, ts.Node[]>();
  walk(ast, (node) => {
    if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return;
    if (isDeclaredName(node) || isMemberOfOtherObject(node)) return;
    const nodes = references.get(node.text) ?? [];
    references.set(node.text, nodes);
    nodes.push(node);
  });
  return references;
}

function isDeclaredName(node: ts.Node): boolean {
  const { parent } = node;
  return "name" in parent && parent.name === node && !ts.isPropertyAccessExpression(parent) &&
    !ts.isShorthandPropertyAssignment(parent);
}

/** Whether a name is a member of another object than `this`, as `parse` in `JSON.parse`. */
function isMemberOfOtherObject(node: ts.Node): boolean {
  const { parent } = node;
  return ts.isIdentifier(node) && ts.isPropertyAccessExpression(parent) && parent.name === node &&
    parent.expression.kind !== ts.SyntaxKind.ThisKeyword;
}

function isCall(node: ts.Node): boolean {
  const { parent } = node;
  const callee = ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
  return ts.isCallExpression(callee.parent) && callee.parent.expression === callee;
}
