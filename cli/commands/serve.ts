/**
 * `swink serve`: sessions over HTTP.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { SERVE_OPTIONS } from "../settings/serve_options.ts";
import { showChosenDemo } from "./demo.ts";

/** `swink serve`. */
export const serve = defineCommand({
  name: "serve",
  summary: "Serves the sessions of a directory over HTTP, with a page for browsers",
  details:
    "The agents have the model, the tools and the sandbox of swink run; clients approve their calls. Ctrl+C waits for the active runs.",
  options: SERVE_OPTIONS,
  examples: [
    ["swink serve", "prints the address of the page, with a new token"],
    ["swink serve --token-file tokens.txt --port 80 --host 0.0.0.0", "for other machines"],
  ],
  exitCodes: [
    ExitCode.ok,
    ExitCode.usage,
    ExitCode.configuration,
    ExitCode.interrupted,
    ExitCode.terminated,
  ],
  async action({ options, given }, host) {
    const { runServer } = await importLate<typeof import("../serve/run_server.ts")>(
      "../serve/run_server.ts",
      import.meta.url,
    );
    return await showChosenDemo(await runServer({ options, given }, host), host);
  },
});
