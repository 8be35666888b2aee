import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { createSandbox } from "./local_sandbox.ts";
import type { SandboxOptions } from "./sandbox_options.ts";

Deno.test("Sandbox: setNet() changes the allowed hosts of commands that are started later", async () => {
  await using workspace = new TestWorkspace();
  const server = await Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using _closed = { [Symbol.dispose]: () => server.close() };
  const { port } = server.addr;
  const { sandbox } = workspace;
  const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
  const connect = `exec 3<>/dev/tcp/127.0.0.1/\${HTTPS_PROXY##*:}; ` +
    `printf 'CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3`;
  assertEquals([sandbox.net, await run("echo [$HTTPS_PROXY]")], ["off", "Exit code: 0\n[]"]);

  sandbox.setNet([`127.0.0.1:${port}`]);
  assertEquals(sandbox.net, [`127.0.0.1:${port}`]);
  assertMatch(await run(connect), /200 Connection established/);
  sandbox.setNet(["example.org"]);
  assertMatch(await run(connect), /403 Forbidden/);
  const { rules } = await sandbox.describe();
  assertEquals(rules.filter(({ rule }) => rule.includes("hosts: example.org")).length, 1);

  sandbox.setNet("off");
  assertEquals([sandbox.net, await run("echo [$HTTPS_PROXY]")], ["off", "Exit code: 0\n[]"]);
});

Deno.test("Sandbox: nothing that is being started when it is disposed of runs afterwards", async () => {
  await using workspace = new TestWorkspace();
  const { sandbox } = workspace;
  const program = { program: "/bin/sh", args: ["-c", "echo x > late"], env: {} };
  const start = () => [sandbox.startCommand("echo x > late"), sandbox.spawn(program)];
  const starting = Promise.allSettled(start());
  await sandbox[Symbol.asyncDispose]();
  const outcomes = [...await starting, ...await Promise.allSettled(start())];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") await outcome.value.exited;
    else assertStringIncludes(String(outcome.reason), "The sandbox has been disposed of");
  }
  assertEquals(outcomes.map(({ status }) => status), Array(4).fill("rejected"));
  assertEquals(workspace.exists("late"), false);
});

Deno.test("createSandbox(): refuses a root that does not exist, or is a file", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("file", "");
  for (const name of ["missing", "file"]) {
    const path = `${workspace.directory}/${name}`;
    const message = name === "file" ? "is not a directory" : "does not exist";
    for (const options of [{ cwd: path }, { cwd: workspace.directory, writeRoots: [path] }]) {
      assertThrows(() => createSandbox(options), Error, message);
    }
  }
});

Deno.test("createSandbox(): refuses to hide a pattern or a path with ~, which would hide nothing", async () => {
  await using workspace = new TestWorkspace();
  for (const path of ["secret/**", "*.pem", "~/.config", "~"]) {
    assertThrows(
      () => createSandbox({ cwd: workspace.directory, hide: [path] }),
      BadRequestError,
      `cannot hide ${JSON.stringify(path)}: write the path`,
    );
  }
});

Deno.test("createSandbox(): refuses an option that does not exist, instead of ignoring a limit", () => {
  for (const option of [{ root: "/tmp" }, { network: "off" }, { writeRoot: [] }]) {
    const [name = ""] = Object.keys(option);
    assertThrows(() => createSandbox(option as SandboxOptions), BadRequestError, name);
  }
});

Deno.test("createSandbox(): refuses values that would be a limit that is not enforced", async () => {
  await using workspace = new TestWorkspace();
  const wrong: [unknown, string][] = [
    [{ confinement: "require" }, 'confinement of the sandbox must be "auto", "required" or "off"'],
    [{ confinement: true }, 'must be "auto", "required" or "off", not true'],
    [{ net: false }, 'net of the sandbox must be "on", "off" or an array of hosts, not false'],
    [{ net: "example.org" }, 'must be "on", "off" or an array of hosts, not "example.org"'],
    [{ net: ["example.org", 3] }, 'must be "on", "off" or an array of hosts, not an array'],
    [{ readOnly: "yes" }, 'readOnly of the sandbox must be true or false, not "yes"'],
    [{ unixSockets: 0 }, "unixSockets of the sandbox must be true or false, not 0"],
    [{ homeAccess: true }, 'homeAccess of the sandbox must be "refuse" or "allow", not true'],
    [{ hide: "keys" }, 'hide of the sandbox must be an array that has only texts, not "keys"'],
    [
      { protect: "keys" },
      'protect of the sandbox must be an array that has only texts, not "keys"',
    ],
    [{ writeRoots: "/tmp" }, "writeRoots of the sandbox must be an array that has only texts"],
    [{ passEnvironment: "PATH" }, "passEnvironment of the sandbox must be an array"],
    [{ environment: ["A=1"] }, "environment of the sandbox must be an object whose values are"],
    [{ cwd: 3 }, "cwd of the sandbox must be a text, not 3"],
    [{ network: "off" }, 'Unknown option "network" of createSandbox()'],
  ];
  for (const [options, message] of wrong) {
    const all = { cwd: workspace.directory, ...options as SandboxOptions };
    assertThrows(() => createSandbox(all), BadRequestError, message);
  }
  assertThrows(() => workspace.sandbox.setNet("none" as never), BadRequestError, "array of hosts");
});
