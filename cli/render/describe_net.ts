/**
 * The network access of commands.
 *
 * @module
 */

import type { RunSandbox, RunStart } from "./reporter.ts";

/** Describes the network access of commands, which nothing restricts if they are not confined. */
export function describeNet(
  net: RunStart["net"],
  sandbox: Pick<RunSandbox, "status"> | undefined,
): string {
  const isOpen = sandbox?.status === "off" || sandbox?.status === "unconfined";
  if (isOpen) return "on";
  return typeof net === "string" ? net : net.join(", ");
}
