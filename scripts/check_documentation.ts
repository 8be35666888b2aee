/**
 * Runs `deno doc --lint`, but accepts constructors and discriminants without a comment.
 *
 * Usage: `deno run -A scripts/check_documentation.ts CONFIG MODULE...`
 *
 * @module
 */

/** An error of `deno doc --lint`. */
export interface DocumentationError {
  /** Name of the rule, such as `missing-jsdoc`. */
  readonly rule: string;
  /** The error as Deno prints it. */
  readonly text: string;
  /** The line of source code with the error. */
  readonly source: string;
}

/** Matches constructors and discriminants. */
const SELF_EXPLANATORY = /^\s*(?:(?:private |protected )?constructor\(|readonly (?:type|role): ")/;

/** Parses the uncoloured output of `deno doc --lint`. */
export function parseDocumentationErrors(output: string): DocumentationError[] {
  return output.split(/^(?=error\[)/m).flatMap((text) => {
    const rule = /^error\[([\w-]+)\]/.exec(text)?.[1];
    const source = /^\s*\d+ \| (.*)$/m.exec(text)?.[1];
    return rule === undefined || source === undefined ? [] : [{ rule, text, source }];
  });
}

/** Whether an error is reported. */
export function isDocumentationError({ rule, source }: DocumentationError): boolean {
  return rule !== "missing-jsdoc" || !SELF_EXPLANATORY.test(source);
}

async function checkDocumentation([config = "deno.json", ...modules]: string[]): Promise<number> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", "-c", config, ...modules],
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  const output = new TextDecoder().decode(stderr);
  const reported = parseDocumentationErrors(output);
  if (!success && reported.length === 0) {
    console.error(output);
    return 1;
  }
  const errors = reported.filter(isDocumentationError);
  for (const { text } of errors) console.error(text.trim());
  return errors.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await checkDocumentation(Deno.args));
