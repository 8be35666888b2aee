/**
 * `#key`: saves the key of a provider.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { importLate } from "../../host/import_late.ts";
import { captureOutput } from "../command/capture_output.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `#key`. */
export const key = defineCommand({
  names: ["#key", "/key", "/login"],
  argument: "PROVIDER",
  summary: "Asks for the key of a provider, without showing it, and saves it",
  worksDuringRuns: true,
  async complete() {
    const { providerNames } = await importLate<typeof import("../../../adapters/connect.ts")>(
      "../../../adapters/connect.ts",
      import.meta.url,
    );
    return providerNames().map((text) => ({ text }));
  },
  async run(argument, { view, host, setup: { controls } }) {
    const [provider = "", given, ...others] = argument.split(/\s+/);
    if (provider === "" || others.length > 0) {
      throw new UsageError("#key takes the name of a provider, such as #key anthropic");
    }
    const actions = await importLate<typeof import("../../credentials/key_actions.ts")>(
      "../../credentials/key_actions.ts",
      import.meta.url,
    );
    const credentials = actions.requireCredentials(host);
    await actions.checkProvider(provider, host);
    const { signal } = new AbortController();
    const typed = given ?? await view.askSecret(`Key for ${provider} (not shown)`, signal);
    const secret = typed?.trim() ?? "";
    if (secret === "") return await view.print([toLine("No key was saved", "faint")]);
    actions.checkKey(secret);
    await view.print(
      await captureOutput(host, async (host) => {
        await actions.storeKey(provider, secret, { credentials, host });
        await actions.warnAboutVariable(provider, host);
      }),
    );
    controls.forgetKey(provider);
  },
});
