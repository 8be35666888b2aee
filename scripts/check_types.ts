/**
 * Checks the types of all files and of the examples in pages and comments, in one program, since most of the time is spent
 * on the packages that all of them import.
 *
 * Usage: `deno run -A scripts/check_types.ts CONFIG`
 *
 * @module
 */

import { readExamples, writeExamples } from "./examples.ts";

const root = new URL("../", import.meta.url);

async function checkTypes([config = "deno.json"]: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_examples_" });
  try {
    const examples = await readExamples();
    const files = await writeExamples(directory, examples);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "-c", config, ".", directory],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    const output = new TextDecoder().decode(stderr);
    const errors = parseTypeErrors(output);
    // Without a type error something else failed, such as finding an imported package.
    if (!success && errors.length === 0) console.error(output);
    const ignored = new Set(files.filter((_, index) => !examples[index]?.runs));
    const reported = errors.filter((error) => !ignored.has(error.file) || !isMissingName(error));
    for (const { text } of reported) console.error(`${text}\n`);
    return success || (errors.length > 0 && reported.length === 0) ? 0 : 1;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** A type error. */
export interface TypeProblem {
  /** Such as `TS2345`. */
  readonly code: string;
  /** Name of the file, without its directory. */
  readonly file: string;
  /** The error as Deno prints it. */
  readonly text: string;
}

/** Matches the end of the output, after the last error. */
const SUMMARY = /^Found \d+ errors?\.[\s\S]*/m;

/** Parses the uncoloured output of `deno check`. */
export function parseTypeErrors(output: string): TypeProblem[] {
  return output.split(/^(?=TS\d+ \[ERROR\])/m).flatMap((text) => {
    const code = /^(TS\d+) \[ERROR\]/.exec(text)?.[1];
    const file = /^ +at .*\/([^/]+?):\d+:\d+$/m.exec(text)?.[1] ?? "";
    return code === undefined ? [] : [{ code, file, text: text.replace(SUMMARY, "").trim() }];
  });
}

/** Names that an ignored example takes from its reader: a variable, a shorthand property, a similar name, a file. */
const MISSING_NAMES = ["TS2304", "TS18004", "TS2552", "TS2307"];

/** Whether an error is about a name that an ignored example may leave to its reader. */
export function isMissingName({ code }: TypeProblem): boolean {
  return MISSING_NAMES.includes(code);
}

if (import.meta.main) Deno.exit(await checkTypes(Deno.args));
