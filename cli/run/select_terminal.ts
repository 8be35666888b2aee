/**
 * The terminal that the options `--plain` and `--color` select.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { RunOptions } from "../settings/run_options.ts";

/** Returns the host with the environment of a terminal that only writes lines, or with other colors, if requested. */
export function selectTerminal(
  host: Host,
  { plain, color }: Pick<RunOptions, "plain" | "color">,
): Host {
  const changes: Readonly<Record<string, string>> = {
    ...(plain && { TERM: "dumb", FORCE_COLOR: "" }),
    ...(color === "always" && { FORCE_COLOR: "1" }),
    ...(color === "never" && { FORCE_COLOR: "", NO_COLOR: "1" }),
  };
  return { ...host, env: (name) => changes[name] ?? host.env(name) };
}
