/**
 * Completion of commands, their arguments, and paths of files.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import type { SandboxFiles } from "../../../src/tools/mod.ts";
import type { Completer, Completion, CompletionRequest } from "../../editor/completion.ts";
import { importLate } from "../../host/import_late.ts";
import type { CommandContext } from "../command/command_context.ts";
import type { ConversationCommand } from "../command/conversation_command.ts";

/** Maximum number of completions. */
const MAX_ITEMS = 100;

/** Maximum number of entries of the project that are searched for a path. */
const MAX_ENTRIES = 20_000;

/** Options for {@linkcode ConversationCompleter}. */
export interface ConversationCompleterOptions {
  /** Loads the commands. */
  readonly loadCommands: () => Promise<readonly ConversationCommand[]>;
  /** Passed to the commands that complete their arguments. */
  readonly context: CommandContext;
  /** The files of the project. */
  readonly files: SandboxFiles;
  /** Canonical path of the working directory. */
  readonly root: string;
}

/** Completes words of the input. */
export class ConversationCompleter implements Completer {
  readonly #options: ConversationCompleterOptions;

  constructor(options: ConversationCompleterOptions) {
    this.#options = options;
  }

  async complete(
    { text, word, start }: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[] | undefined> {
    const before = text.slice(0, start);
    if (word.startsWith("@")) return await this.#completePath(word.replace(/^@"?/, ""), signal);
    if (before.trim() === "" && /^[/#]/.test(word)) return await this.#completeName(word);
    const [matched = "", name] = /^\s*([/#][a-z-]+)\s+/.exec(before) ?? [];
    if (name === undefined) return undefined;
    const earlier = before.slice(matched.length).replace(/\s+/g, " ");
    return await this.#completeArgument(name, { earlier, word }, signal);
  }

  async #completeName(word: string): Promise<Completion[]> {
    const commands = await this.#options.loadCommands();
    const items = commands.flatMap(({ names, summary: detail }) => {
      const matching = names.filter((name) => name.startsWith(word));
      // Other names of the same command would only make the list longer.
      return matching.slice(0, 1).map((name) => ({ text: name, detail }));
    });
    return items.sort((a, b) => a.text.localeCompare(b.text)).slice(0, MAX_ITEMS);
  }

  /** Completes a word of an argument by the values that begin with the words before it. */
  async #completeArgument(
    name: string,
    { earlier, word }: { readonly earlier: string; readonly word: string },
    signal: AbortSignal,
  ): Promise<Completion[] | undefined> {
    const { loadCommands, context } = this.#options;
    const command = (await loadCommands()).find(({ names }) => names.includes(name));
    const choices = await command?.complete?.(context, signal);
    return choices?.filter(({ text }) => text.startsWith(earlier))
      .map(({ text, detail }) => ({ text: text.slice(earlier.length), detail }))
      .filter(({ text, detail = "" }) =>
        includesWord(text, word) || (command?.completesByDetail && includesWord(detail, word))
      )
      .slice(0, MAX_ITEMS);
  }

  /** Completes a path by the entries of its directory; one without a directory also by the paths of all files. */
  async #completePath(path: string, signal: AbortSignal): Promise<Completion[]> {
    const { files, root } = this.#options;
    const { walkFiles } = await importLate<
      typeof import("../../../src/tools/search/walk_files.ts")
    >("../../../src/tools/search/walk_files.ts", import.meta.url);
    const slash = path.lastIndexOf("/");
    const directory = path.slice(0, slash + 1);
    const name = path.slice(slash + 1).toLowerCase();
    const entries = walkFiles(files, join(root, directory), {
      signal,
      ...(slash >= 0 && { maxDepth: 0 }),
    });
    const found: { readonly item: Completion; readonly rank: number }[] = [];
    let count = 0;
    for await (const { relativePath, kind } of entries) {
      if (++count > MAX_ENTRIES) break;
      const rank = rankMatch(relativePath.toLowerCase(), name);
      if (rank === undefined) continue;
      const isDirectory = kind === "directory";
      const text = formatReference(directory + relativePath, isDirectory);
      found.push({ item: { text, isPartial: isDirectory }, rank });
    }
    return found.sort((a, b) => a.rank - b.rank).slice(0, MAX_ITEMS).map(({ item }) => item);
  }
}

function includesWord(text: string, word: string): boolean {
  return text.toLowerCase().includes(word.toLowerCase());
}

/** Returns how well a path matches a typed text, the best first; `undefined` if it does not. */
function rankMatch(path: string, text: string): number | undefined {
  if (path.startsWith(text)) return path.includes("/") ? 1 : 0;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(text)) return 2;
  return path.includes(text) ? 3 : undefined;
}

/** Returns the reference to a path. One with blanks is quoted; the quotes of a directory stay open for its files. */
function formatReference(path: string, isDirectory: boolean): string {
  const isQuoted = /\s/.test(path);
  const start = isQuoted ? '@"' : "@";
  return isDirectory ? `${start}${path}/` : `${start}${path}${isQuoted ? '"' : ""}`;
}
