#!/usr/bin/env node
// The program `swink` of the npm package. It runs on Deno: in this process, or in one that is started by Node or Bun.

import process from "node:process";
import { spawn, spawnSync } from "node:child_process";
import { accessSync, closeSync, constants as modes, openSync, readSync, statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);

if ("Deno" in globalThis) {
  const { main } = await import("../cli/main.js");
  process.exit(await main(args));
}

const isWindows = process.platform === "win32";
const program = fileURLToPath(new URL("../cli/main.js", import.meta.url));

// Others send a signal to this process only, a terminal to both: the started program takes the second one as the same.
// On Windows it gets Ctrl+C, and a signal from here would end it at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", ...(isWindows ? [] : ["SIGQUIT"])]) {
  process.on(signal, () => {
    if (!isWindows) child.kill(signal);
  });
}

// Without a project around it, as after `npm install --global`, Deno finds packages in node_modules only with this option.
const options = ["-A", "--quiet", "--no-config", "--no-lock", "--node-modules-dir=manual"];
const deno = findDeno();
const child = spawn(deno.path, ["run", ...options, program, ...args], {
  stdio: "inherit",
  env: deno.env,
});
child.on("error", (error) => {
  const reason = error.code === "ENOENT" ? "deno is not in PATH" : error.message;
  // On Windows, npm installs a script in place of a program, which cannot be started without a shell.
  const install = isWindows ? "winget install DenoLand.Deno" : "npm install --global deno";
  process.stderr.write(
    `swink needs Deno 2.8 or later, which cannot be started: ${reason}. Install it: ${install}\n`,
  );
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

/**
 * Returns the deno program and its environment. A script in its place, such as that of the npm package deno whose install
 * script did not run, would end at a signal and leave its program running: that one is started instead, with the variables
 * that the script sets.
 */
function findDeno() {
  const paths = isWindows ? [] : (process.env.PATH ?? "").split(delimiter);
  const path = paths.map((directory) => join(directory, "deno")).find(isProgram);
  if (path === undefined || !isScript(path)) return { path: "deno", env: process.env };
  const code = "console.log(JSON.stringify({ path: Deno.execPath(), env: Deno.env.toObject() }))";
  const args = ["eval", "--no-config", "--no-lock", code];
  const { stdout } = spawnSync(path, args, { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const found = JSON.parse(stdout.toString().trim().split("\n").at(-1)); // a script may print lines before
    if (isProgram(found.path)) return found; // not where it is in a container
  } catch {
    // The program that is started below reports what is wrong with the script.
  }
  return { path, env: process.env };
}

function isProgram(path) {
  try {
    accessSync(path, modes.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isScript(path) {
  try {
    const file = openSync(path);
    const start = new Uint8Array(2);
    readSync(file, start);
    closeSync(file);
    return String.fromCharCode(...start) === "#!";
  } catch {
    return false; // it may be executable and not readable
  }
}
