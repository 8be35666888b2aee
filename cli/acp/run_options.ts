/**
 * The options of the runs in a session.
 *
 * @module
 */

import type { AcpOptions } from "../settings/acp_options.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import { RUN_OPTIONS, type RunOptions } from "../settings/run_options.ts";

/** Returns the options of a run; those that `swink acp` does not have are at their defaults. */
export function toRunOptions(
  { login: _login, draftProtocol: _draft, ...options }: AcpOptions,
): RunOptions {
  return { ...createDefaultOptions(RUN_OPTIONS), ...options };
}
