/**
 * Whether models can run in this program.
 *
 * @module
 */

import { LLAMA_PACKAGE } from "../../src/local/mod.ts";

/** The way in which this program was installed. */
export interface Installation {
  /** Whether it is a program compiled by `deno compile`. */
  readonly isExecutable: boolean;
  /** URL of this module. */
  readonly url: string;
  /** Returns the URL of an installed package; throws if there is none. */
  readonly resolve: (name: string) => string;
}

/**
 * Returns why no model can run in this program, as a sentence; `undefined` if models can. Deno downloads llama.cpp for them,
 * but neither for an executable nor for the npm package.
 */
export function findLlamaProblem(
  { isExecutable, url, resolve }: Installation = {
    isExecutable: Deno.build.standalone,
    url: import.meta.url,
    resolve: import.meta.resolve,
  },
): string | undefined {
  const { name } = LLAMA_PACKAGE;
  if (isExecutable) {
    return "Models cannot run in this executable, which does not contain llama.cpp.";
  }
  if (!url.includes("/node_modules/")) return undefined;
  try {
    resolve(name);
    return undefined;
  } catch {
    return `Models run in this program after this installation: npm install ${name}, ` +
      "with --global if swink is installed globally.";
  }
}
