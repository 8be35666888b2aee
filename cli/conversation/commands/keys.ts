/**
 * `#keys`: lists the providers with a key.
 *
 * @module
 */

import { importLate } from "../../host/import_late.ts";
import { captureOutput } from "../command/capture_output.ts";
import { defineCommand } from "../command/conversation_command.ts";

/** `#keys`. */
export const keys = defineCommand({
  names: ["#keys", "/keys"],
  summary: "Lists the providers with a key, and where it is",
  worksDuringRuns: true,
  async run(_argument, { view, host }) {
    const { listKeys } = await importLate<typeof import("../../credentials/key_actions.ts")>(
      "../../credentials/key_actions.ts",
      import.meta.url,
    );
    await view.print(await captureOutput(host, listKeys));
  },
});
