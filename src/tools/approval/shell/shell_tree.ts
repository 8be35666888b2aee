/**
 * The nodes of the syntax tree of a shell script.
 *
 * @module
 */

import { forEachChild, type SyntaxNode } from "unbash";

/** Counts the commands in a function with its name. */
export function countCalls(body: SyntaxNode, name: string): number {
  let count = 0;
  for (const node of walkTree(body)) {
    if (node.type === "Command" && node.name?.value === name) count++;
  }
  return count;
}

/** Yields the nodes of a tree in source order. It does not recurse: the operators of a long expression nest deeply. */
export function* walkTree(root: SyntaxNode): Generator<SyntaxNode> {
  const pending: SyntaxNode[] = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node;
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    pending.push(...children.reverse());
  }
}

/** Nodes whose effect is that of the commands in them. */
export const PLAIN_NODES: ReadonlySet<SyntaxNode["type"]> = new Set<SyntaxNode["type"]>([
  "Script",
  "Statement",
  "CompoundList",
  "AndOr",
  "Pipeline",
  "Time",
  "Negation",
  "Subshell",
  "BraceGroup",
  "If",
  "Elif",
  "While",
  "Redirected",
  "Command",
  "Redirect",
  "FileDescriptor",
  "HereString",
  "HereDoc",
  "HereDocDelimiter",
  "HereDocBody",
  "Word",
  "Literal",
  "SingleQuoted",
  "DoubleQuoted",
]);

/** Nodes whose commands may run more than once. */
export const REPEATED_NODES: ReadonlySet<SyntaxNode["type"]> = new Set<SyntaxNode["type"]>([
  "While",
  "For",
  "ArithmeticFor",
  "Select",
  "Function",
]);
