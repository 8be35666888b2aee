/**
 * The small broken project of the demo, which travels with the program.
 *
 * @module
 */

import { join } from "node:path";
import readme from "./sample/README.md.txt" with { type: "text" };
import cart from "./sample/cart.mjs.txt" with { type: "text" };
import cartTest from "./sample/cart_test.mjs.txt" with { type: "text" };
import denoConfig from "./sample/deno.json.txt" with { type: "text" };

const FILES: Readonly<Record<string, string>> = {
  "README.md": readme,
  "cart.mjs": cart,
  "cart_test.mjs": cartTest,
  // So that a configuration in a folder above is none of this project's.
  "deno.json": denoConfig,
};

/** A copy of the project in a temporary folder. Dispose of it to remove it. */
export interface SampleProject extends AsyncDisposable {
  /** Where it is. */
  readonly directory: string;
}

/** Copies the project into a folder of its own. */
export async function createSampleProject(): Promise<SampleProject> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink-demo-" }));
  for (const [name, text] of Object.entries(FILES)) {
    await Deno.writeTextFile(join(folder, name), text);
  }
  return {
    directory: folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }).catch(() => {}),
  };
}
