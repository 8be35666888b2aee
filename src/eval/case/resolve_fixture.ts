/**
 * The paths of fixtures.
 *
 * @module
 */

import { isAbsolute, join } from "../../platform/paths.ts";
import type { EvalSet } from "./eval_case.ts";

/** Returns the path of a fixture of a set. */
export function resolveFixture(
  fixture: string,
  { directory }: Pick<EvalSet, "directory">,
): string {
  return directory === undefined || isAbsolute(fixture) ? fixture : join(directory, fixture);
}
