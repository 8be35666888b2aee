/**
 * Instructions of a project for agents: `AGENTS.md`, or `CLAUDE.md` where there is none, and the files that they import.
 *
 * @module
 */

import { dirname, getRelativePath, isAbsolute, join } from "../../src/platform/paths.ts";
import { readUntrustedFile } from "../../src/platform/untrusted_file.ts";
import { INSTRUCTION_NAMES } from "./project_content.ts";
import { listDirectories } from "./project_root.ts";
import { isProtectedFile } from "./protected_file.ts";

/** A file of instructions. */
export interface InstructionFile {
  /** Path relative to the root of the project. */
  readonly path: string;
  /** The text. */
  readonly text: string;
}

/** The instructions of a project. */
export interface Instructions {
  /** The files, those of outer directories first; imported files follow the file that imports them. */
  readonly files: readonly InstructionFile[];
  /** The files that were not read, or not completely, as sentences without a full stop. */
  readonly problems: readonly string[];
}

/** Maximum size of all instructions in bytes. Every request contains them. */
export const MAX_INSTRUCTION_BYTES = 64_000;

/** Maximum number of imports from one file to the next. */
const MAX_IMPORT_DEPTH = 5;

/**
 * Reads the instructions for a directory: those of the root of the project, of the directory, and of all directories
 * between them. `@path` outside of code imports a file, relative to the importing file and within the project.
 *
 * @param root Absolute path of the root of the project, without links.
 * @param directory Absolute path of the directory, within the root and without links.
 */
export async function readInstructions(root: string, directory: string): Promise<Instructions> {
  const reader = new InstructionReader(root);
  for (const path of listDirectories(root, directory)) await reader.readDirectory(path);
  return reader;
}

class InstructionReader implements Instructions {
  readonly files: InstructionFile[] = [];
  readonly problems: string[] = [];
  readonly #root: string;
  readonly #seen = new Set<string>();
  #remainingBytes = MAX_INSTRUCTION_BYTES;

  constructor(root: string) {
    this.#root = root;
  }

  async readDirectory(directory: string): Promise<void> {
    for (const name of INSTRUCTION_NAMES) {
      if (await this.#readFile(join(directory, name), 0) !== "missing") return;
    }
  }

  async #readFile(path: string, depth: number): Promise<"read" | "refused" | "missing"> {
    if (this.#seen.has(path)) return "read";
    this.#seen.add(path);
    const name = getRelativePath(this.#root, path) ?? path;
    const options = { within: this.#root, maxBytes: MAX_INSTRUCTION_BYTES };
    const read = await readUntrustedFile(path, options);
    if (read.type === "missing") return "missing";
    if (read.type === "refused") {
      this.problems.push(`${name} ${read.reason}`);
      return "refused";
    }
    if (await isProtectedFile(path, this.#root)) {
      this.problems.push(`${name} was not loaded: such files usually hold secrets`);
      return "refused";
    }
    if (read.bytes.length > this.#remainingBytes) {
      this.problems.push(
        `${name} was not loaded: instructions may have ${MAX_INSTRUCTION_BYTES} bytes in all`,
      );
      return "refused";
    }
    this.#remainingBytes -= read.bytes.length;
    const text = new TextDecoder().decode(read.bytes);
    this.files.push({ path: name, text });
    if (depth < MAX_IMPORT_DEPTH) await this.#readImports(path, text, depth);
    return "read";
  }

  async #readImports(path: string, text: string, depth: number): Promise<void> {
    for (const target of findImports(text)) {
      const isElsewhere = isAbsolute(target) || target.startsWith("~/");
      const imported = join(dirname(path), target);
      // A missing file is no error: @name is also a person, a package or an alias of a directory.
      if (!isElsewhere && getRelativePath(this.#root, imported) !== undefined) {
        await this.#readFile(imported, depth + 1);
      } else if (/\.(md|txt)$/i.test(target)) {
        this.problems.push(`@${target} was not loaded: it is outside of the project`);
      }
    }
  }
}

/** Returns the targets of `@path` in a Markdown text, outside of code, without duplicates. */
export function findImports(text: string): string[] {
  const prose = removeCode(text);
  const targets = [...prose.matchAll(/(?<!\S)@([^\s@`]+)/g)].map(([, target = ""]) =>
    target.replace(/[.,;:!?)\]]+$/, "")
  );
  return [...new Set(targets.filter((target) => target !== ""))];
}

/** Removes fenced code blocks and code spans. */
function removeCode(text: string): string {
  let fence = "";
  const lines = text.split("\n").filter((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "") {
      fence = mark;
      return mark === "";
    }
    if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    return false;
  });
  return lines.map((line) => line.replace(/(`+)[^`]*\1/g, " ")).join("\n");
}
