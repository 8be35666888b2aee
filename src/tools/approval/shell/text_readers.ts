/**
 * The commands of a shell script that may get a text of the script in their input.
 *
 * @module
 */

import type { Command, Redirection, Script, SyntaxNode } from "unbash";
import { forEachChild } from "unbash";
import { walkTree } from "./shell_tree.ts";

/** Matches programs that print a text in their arguments. */
const PRINTER = /^(?:.*\/)?(?:date|echo|[gm]?awk|g?sed|jq|printf|seq|yes)$/;

/** Matches programs that write their input to a file. */
const WRITER = /^(?:.*\/)?(?:cp|dd|iconv|install|pv|shuf|sort|sponge|tee|uniq)$/;

/**
 * Finds the commands that may get a text of the script in their input: through a pipe, from a document, or from a file that
 * the script may write. Calls of functions are none of them, but the commands in those that may get one are.
 *
 * @param functions Names of the functions that the script certainly has.
 */
export function findTextReaders(
  root: Script,
  functions: ReadonlySet<string>,
): ReadonlySet<SyntaxNode> {
  return new ReaderFinder(root, functions).find();
}

/** Lists the names of the functions that a script certainly has, although not everywhere. */
export function listFunctions(root: Script): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { command } of root.commands) {
    if (command.type === "Function") names.add(command.name.value);
  }
  if (names.size === 0) return names;
  // A function that is removed has the name of a program.
  for (const node of walkTree(root)) {
    if (node.type === "Command" && listValues(node).includes("unset")) return new Set();
  }
  return names;
}

class ReaderFinder {
  readonly #root: Script;
  readonly #functions: ReadonlySet<string>;
  /** Names of functions, also of those that a script may not have. */
  readonly #anywhere = new Set<string>();
  readonly #readers = new Set<SyntaxNode>();
  #hasTexts = false;
  #writesFiles = false;
  #readsAnywhere = false;

  constructor(root: Script, functions: ReadonlySet<string>) {
    this.#root = root;
    this.#functions = functions;
  }

  find(): ReadonlySet<SyntaxNode> {
    for (const node of walkTree(this.#root)) this.#note(node);
    if (!this.#hasTexts) return this.#readers;
    this.#mark(this.#root, this.#readsAnywhere);
    if ([...this.#readers].some((node) => this.#isCall(node))) this.#markFunctions();
    for (const node of this.#readers) {
      if (this.#functions.has(getName(node))) this.#readers.delete(node);
    }
    return this.#readers;
  }

  #note(node: SyntaxNode): void {
    if (node.type === "Function") this.#anywhere.add(node.name.value);
    if (isText(node)) this.#hasTexts = true;
    if (node.type === "Redirect" && isFileOutput(node)) this.#writesFiles = true;
    if (node.type !== "Command") return;
    if (WRITER.test(node.name?.value ?? "")) this.#writesFiles = true;
    // Then all commands behind it get the input of the shell.
    if (node.name?.value === "exec" && node.redirects.some(isInput)) this.#readsAnywhere = true;
  }

  #isCall(node: SyntaxNode): boolean {
    return this.#anywhere.has(getName(node));
  }

  #markFunctions(): void {
    for (const node of walkTree(this.#root)) {
      if (node.type === "Function") this.#mark(node.body, true);
    }
  }

  /** Marks the commands below a node. It does not recurse, since lists nest deeply. */
  #mark(root: SyntaxNode, reads: boolean): void {
    const pending: { readonly node: SyntaxNode; readonly reads: boolean }[] = [{
      node: root,
      reads,
    }];
    for (let entry = pending.pop(); entry; entry = pending.pop()) {
      const { node } = entry;
      const readsHere = entry.reads || this.#getsText(node);
      if (readsHere && node.type === "Command") this.#readers.add(node);
      if (node.type === "Pipeline") {
        let isPiped = readsHere;
        for (const command of node.commands) {
          pending.push({ node: command, reads: isPiped });
          isPiped ||= this.#mayPrintText(command);
        }
      } else forEachChild(node, (child) => pending.push({ node: child, reads: readsHere }));
    }
  }

  /** Whether the input of a node may be a text, apart from that of the node it is in. */
  #getsText(node: SyntaxNode): boolean {
    switch (node.type) {
      case "Command":
      case "Redirected":
        return node.redirects.some((redirect) => this.#passesText(redirect));
      case "Coproc":
        return true;
      case "ProcessSubstitution":
        return node.operator === ">";
      default:
        return false;
    }
  }

  #passesText(redirect: Redirection): boolean {
    if (redirect.type !== "Redirect") return true;
    const isSubstitution = redirect.target?.text.includes("<(") === true;
    const isDescriptor = redirect.operator === "<&";
    return isInput(redirect) && (isSubstitution || isDescriptor || this.#writesFiles);
  }

  /** Whether a node may print a text of the script, such as one in a file that the script writes. */
  #mayPrintText(root: SyntaxNode): boolean {
    if (this.#writesFiles) return true;
    for (const node of walkTree(root)) if (isText(node) || this.#isCall(node)) return true;
    return false;
  }
}

function getName(node: SyntaxNode): string {
  return node.type === "Command" ? node.name?.value ?? "" : "";
}

function isText(node: SyntaxNode): boolean {
  return node.type === "HereDoc" || node.type === "HereString" ||
    node.type === "Command" && listValues(node).some((value) => PRINTER.test(value));
}

function listValues({ name, args }: Command): readonly string[] {
  return [...(name ? [name] : []), ...args].flatMap((word) =>
    word.type === "Word" ? word.value : []
  );
}

function isInput({ operator }: Redirection): boolean {
  return operator.startsWith("<");
}

/** Whether a redirection writes to a file, and not to another descriptor or nowhere. */
function isFileOutput({ operator, target }: Redirection & { readonly type: "Redirect" }): boolean {
  return operator.includes(">") && !/^(?:\d+|-|\/dev\/(?:null|stdout|stderr|tty))$/.test(
    target?.value ?? "",
  );
}
