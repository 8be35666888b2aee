/**
 * Runs a command in a sandbox, for a test that mounts its directory before: `DIRECTORY HIDDEN COMMAND`.
 *
 * @module
 */

import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";

const [cwd = "", hidden = "", command = ""] = Deno.args;
await using sandbox = createSandbox({ cwd, hide: [hidden] });
const { output, exited, finish } = await sandbox.startCommand(command);
await output.pipeTo(Deno.stdout.writable, { preventClose: true });
await exited;
await finish();
