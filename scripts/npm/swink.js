#!/usr/bin/env node
// The program `swink` of the npm package. It runs on Deno: in this process, or in one that is started by Node or Bun.

import process from "node:process";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);

if ("Deno" in globalThis) {
  const { main } = await import("../cli/main.js");
  process.exit(await main(args));
}

const program = fileURLToPath(new URL("../cli/main.js", import.meta.url));
// The started program handles signals, which a terminal sends to both.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { error, status } = spawnSync("deno", ["run", "-A", "--quiet", program, ...args], {
  stdio: "inherit",
});
if (error) {
  const reason = error.code === "ENOENT" ? "deno is not in PATH" : error.message;
  // On Windows, npm installs a script in place of a program, which cannot be started without a shell.
  const install = process.platform === "win32"
    ? "winget install DenoLand.Deno"
    : "npm install --global deno";
  process.stderr.write(
    `swink needs Deno 2.8 or later, which cannot be started: ${reason}. Install it: ${install}\n`,
  );
}
process.exit(status ?? 2);
