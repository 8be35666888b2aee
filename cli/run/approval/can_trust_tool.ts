/**
 * Whether the user can approve all calls of a tool.
 *
 * @module
 */

import type { Sandbox } from "../../../src/tools/mod.ts";

/** Whether the gate accepts an approval of all calls of a tool: not of `bash` while no sandbox confines its commands. */
export async function canTrustTool(
  name: string,
  sandbox: Pick<Sandbox, "describe">,
): Promise<boolean> {
  return name !== "bash" || (await sandbox.describe()).confined;
}
