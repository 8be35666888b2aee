/**
 * The variables of a script whose values may be lists. Where bash declares such a variable again with a text such as
 * `($(program))`, it takes the text for a list, and runs the substitutions in it.
 *
 * @module
 */

import type { Assignment, Command, SyntaxNode, Word } from "unbash";

/** Lists of bash itself. */
const OWN_LISTS = ["COPROC", "DIRSTACK", "FUNCNAME", "GROUPS", "MAPFILE", "PIPESTATUS"];

/** Commands that set variables in words of the form `name=value`. */
export const DECLARERS = /^(?:declare|typeset|local|export|readonly)$/;

/** An option with which a command declares or fills lists. */
const LIST_OPTION = /^-\w*[aA]/;

/** Returns the names of the variables that may be lists. */
export function listListVariables(nodes: readonly SyntaxNode[]): ReadonlySet<string> {
  const names = new Set(OWN_LISTS);
  for (const node of nodes) {
    if (node.type === "Assignment" && (node.value.type === "ArrayValue" || node.index)) {
      names.add(node.name);
    }
    if (node.type === "Command" && mayFillLists(node)) {
      for (const arg of node.args) {
        if (arg.type === "Assignment") names.add(arg.name);
        else for (const name of listNames(arg.value)) names.add(name);
      }
    }
    // The descriptors of its input and output.
    if (node.type === "Coproc" && node.name) names.add(node.name.value);
  }
  return names;
}

function mayFillLists({ name, args }: Command): boolean {
  const words = [name?.value ?? "", ...args.map(getText)];
  return words.some((text) => /^(?:mapfile|readarray)$/.test(text)) ||
    words.some((text) => LIST_OPTION.test(text)) &&
      words.some((text) => text === "read" || DECLARERS.test(text));
}

function getText(arg: Word | Assignment): string {
  return arg.type === "Word" ? arg.value : arg.text;
}

/** Lists the names that a word may have: of a variable before its value, or in the word of an option, as in `read -raNAME`. */
function listNames(text: string): readonly string[] {
  const [, options = ""] = /^-(\w+)$/.exec(text) ?? [];
  const attached = [...options.matchAll(/a/g)].map(({ index }) => options.slice(index + 1));
  return [text.replace(/\+?=.*$/s, ""), ...attached];
}

/** Whether a command may declare a list with a text in which bash runs substitutions. */
export function mayEvaluateList(
  { name, args }: Command,
  lists: ReadonlySet<string>,
): boolean {
  const words = [name?.value ?? "", ...args.map(getText)];
  if (!words.some((text) => DECLARERS.test(text))) return false;
  const isList = words.some((text) => LIST_OPTION.test(text));
  return args.some((arg) => {
    const { name, text } = splitAssignment(arg);
    const isListText = text.startsWith("(") && text.endsWith(")");
    // The value of an expansion is not known.
    return isListText && /[$`[]/.test(text) || /^[$`]/.test(text) && (isList || lists.has(name));
  });
}

/** Returns the name and the text of the value that an argument assigns; both are empty if it is none. */
function splitAssignment(arg: Word | Assignment): { readonly name: string; readonly text: string } {
  if (arg.type === "Assignment") {
    return { name: arg.name, text: arg.value.type === "Word" ? arg.value.value : "" };
  }
  const [, name = "", text = ""] = /^(\w+)\+?=(.*)$/s.exec(arg.value) ?? [];
  return { name, text };
}
