/**
 * The confinement of the commands of an evaluation, which no user approves.
 *
 * @module
 */

import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import type { Host } from "../host/host.ts";
import { toPlainText } from "../render/plain_text.ts";
import type { RunSettings } from "../run/settings/settings.ts";
import { createConfinementWarning } from "../run/tools/confinement_warning.ts";

/**
 * Warns if the kernel does not fully confine the commands of agents.
 *
 * @throws {ConfigurationError} If confinement is required and incomplete.
 */
export async function checkSandbox(
  { sandbox: mode, net }: Pick<RunSettings, "sandbox" | "net">,
  { terminal }: Pick<Host, "terminal">,
): Promise<void> {
  const cwd = await Deno.makeTempDir({ prefix: "swink-eval-" });
  try {
    await using sandbox = createSandbox({ cwd, net, confinement: mode });
    const warning = createConfinementWarning(mode, await sandbox.describe());
    if (warning !== undefined) await terminal.messages.write(`warning: ${toPlainText(warning)}\n`);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
