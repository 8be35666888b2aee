/**
 * The code blocks of pages.
 *
 * @module
 */

import type { TextFile } from "./project_paths.ts";

/** A code block. */
export interface CodeBlock {
  /** The page and the line of its first fence: `docs/cli.md:12`. */
  readonly place: string;
  /** The text after the fence, such as `ts ignore`; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** Returns the code blocks of a page, without their indentation. */
export function listCodeBlocks({ path, text }: TextFile): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  for (const match of text.matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)) {
    const [, indent = "", language = "", body = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    blocks.push({
      place: `${path}:${line}`,
      language: language.trim(),
      text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    });
  }
  return blocks;
}

/** Returns the words of each command of a program in a script: `swink run -m x "a b" | jq` gives `run`, `-m`, `x`, `a b`. */
export function listCommands(script: string, program: string): string[][] {
  const joined = script.replaceAll("\\\n", " ");
  return joined.split("\n").flatMap(splitCommands).flatMap(([name, ...words]) =>
    name === program ? [words] : []
  );
}

/** Splits a line at pipes and separators; a comment ends it, and redirections are left out. */
function splitCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  const tokens = line.matchAll(
    /("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'|&;<>#])+|[|&;]+|[<>]+\s*\S+|#.*/g,
  );
  for (const [token] of tokens) {
    if (token.startsWith("#")) break;
    if (/^[|&;]/.test(token)) commands.push([]);
    else if (!/^[<>]/.test(token)) commands.at(-1)?.push(token.replaceAll(/["']/g, ""));
  }
  return commands;
}
