/**
 * The variables of a script whose values are numbers.
 *
 * @module
 */

import type { Assignment, Command, SyntaxNode, Word } from "unbash";

/** Numbers that bash provides. */
const OWN_NUMBERS = ["RANDOM", "SECONDS", "LINENO"];

/** Commands that set variables which they name. */
const SETTERS = /^(?:read|mapfile|readarray|getopts|printf|unset|wait)$/;

/**
 * Returns the variables to which a script assigns only numbers. The value of another one may be an expression that runs
 * programs where a number is expected, as `a[$(program)]` does.
 */
export function listNumericVariables(nodes: readonly SyntaxNode[]): ReadonlySet<string> {
  const numeric = new Set(OWN_NUMBERS);
  const others = new Set<string>();
  for (const node of nodes) {
    if (node.type === "Assignment") (isNumber(node) ? numeric : others).add(node.name);
    if (node.type === "For") {
      (node.wordlist?.every(isNumberList) ? numeric : others).add(node.name.text);
    }
    if (node.type === "Select") others.add(node.name.text);
    // As in `${name:=value}`.
    if (node.type === "ParameterExpansion" && node.text.includes("=")) others.add(node.parameter);
    if (node.type === "Command" && SETTERS.test(node.name?.value ?? "")) addNames(node, others);
  }
  return new Set([...numeric].filter((name) => !others.has(name)));
}

function isNumber({ name, value, text, index }: Assignment): boolean {
  if (value.type === "ArrayValue" || index !== undefined) return false;
  if (!text.startsWith(`${name}=`) && !text.startsWith(`${name}+=`)) return false;
  const [part, ...others] = value.parts ?? [];
  return /^\d{1,18}$/.test(value.value) ||
    part?.type === "ArithmeticExpansion" && others.length === 0;
}

function isNumberList({ text }: Word): boolean {
  return /^(?:\d{1,18}|\{\d+\.\.\d+\}|\$\(seq(?: \d+)+\))$/.test(text);
}

function addNames({ args }: Command, names: Set<string>): void {
  for (const { text } of args) {
    for (const [name] of text.matchAll(/\w+/g)) names.add(name);
  }
}
