/**
 * Whether models can run in this program.
 *
 * @module
 */

import { LLAMA_PACKAGE } from "../../src/local/mod.ts";
import {
  describeMissingPackage,
  INSTALLATION,
  type Installation,
} from "../host/installed_package.ts";

/** The way in which this program was installed. */
export interface LlamaInstallation extends Installation {
  /** Whether it is a program compiled by `deno compile`. */
  readonly isExecutable: boolean;
}

/**
 * Returns why no model can run in this program, as a sentence; `undefined` if models can. Deno downloads llama.cpp for them,
 * but neither for an executable nor for the npm package.
 */
export function findLlamaProblem(
  { isExecutable, ...installation }: LlamaInstallation = {
    isExecutable: Deno.build.standalone,
    ...INSTALLATION,
  },
): string | undefined {
  const { name } = LLAMA_PACKAGE;
  if (isExecutable) {
    return "Models cannot run in this executable, which does not contain llama.cpp.";
  }
  const missing = describeMissingPackage(name, "Models on this device", installation);
  return missing === undefined ? undefined : `${missing}.`;
}
