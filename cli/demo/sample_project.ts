/**
 * The sample project of the demo, which has failing tests and is embedded in the program.
 *
 * @module
 */

import { join } from "node:path";
import readme from "./sample/README.md.txt" with { type: "text" };
import cart from "./sample/cart.mjs.txt" with { type: "text" };
import cartTest from "./sample/cart_test.mjs.txt" with { type: "text" };
import denoConfig from "./sample/deno.json.txt" with { type: "text" };

/** The files of the project, by name. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.md": readme,
  "cart.mjs": cart,
  "cart_test.mjs": cartTest,
  // Prevents deno from using the configuration of a parent directory.
  "deno.json": denoConfig,
};

/** A copy of the project in a temporary directory. Disposing of it removes the directory. */
export interface SampleProject extends AsyncDisposable {
  /** Absolute path. */
  readonly directory: string;
}

/** Copies the project into a temporary directory. */
export async function createSampleProject(): Promise<SampleProject> {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink-demo-" }));
  for (const [name, text] of Object.entries(SAMPLE_FILES)) {
    await Deno.writeTextFile(join(directory, name), text);
  }
  return {
    directory,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }).catch(() => {}),
  };
}
