/**
 * Counts banned words with the lint rule itself, so that exceptions by line are not counted.
 *
 * @module
 */

/** Reports of the rule `swink/plain-language` by kind. */
export interface BannedWordCount {
  identifiers: number;
  comments: number;
  texts: number;
  fileNames: number;
  /** Comments that begin with "What". */
  openingWhats: number;
}

interface LintReport {
  diagnostics: { message: string }[];
}

const plugin = new URL("../lint/plugin.ts", import.meta.url);

const opening: Record<keyof BannedWordCount, RegExp> = {
  identifiers: /^Identifier /,
  comments: /^Comment uses /,
  texts: /^Text /,
  fileNames: /^File name /,
  openingWhats: /^Comment begins /,
};

/** Counts the banned words in all TypeScript files of a checkout. */
export async function countBannedWords(root: URL): Promise<BannedWordCount> {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const rules = { tags: [], include: ["swink/plain-language"] };
    await Deno.writeTextFile(config, JSON.stringify({ lint: { plugins: [plugin.href], rules } }));
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["lint", "-c", config, "--json", "."],
      cwd: root,
      stderr: "inherit",
    }).output();
    const { diagnostics }: LintReport = JSON.parse(new TextDecoder().decode(stdout));
    const count = (pattern: RegExp) =>
      diagnostics.filter(({ message }) => pattern.test(message)).length;
    return {
      identifiers: count(opening.identifiers),
      comments: count(opening.comments),
      texts: count(opening.texts),
      fileNames: count(opening.fileNames),
      openingWhats: count(opening.openingWhats),
    };
  } finally {
    await Deno.remove(config);
  }
}
