/**
 * Every exit code in every output format.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { EXIT_CODES } from "../../cli/host/exit_code.ts";
import { main, type StopSignal } from "../../cli/main.ts";
import { waitUntil } from "../wait_until.ts";
import { createFakeHost, type FakeHost, type FakeHostOptions } from "./fake_host.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** The cause of an exit code. */
interface Cause extends FakeHostOptions {
  readonly args?: readonly string[];
  /** Acts after the first request. */
  readonly during?: (host: FakeHost) => void;
  /** Whether the run ends before it starts, so that there is no result. */
  readonly hasNoResult?: boolean;
}

const DONE = scriptedReply("Done.");
const WAIT = scriptedReply(scriptedCall("bash", { command: "sleep 30" }));
const WRITE = scriptedReply(scriptedCall("bash", { command: "echo > x" }));

function fail(status: number, type: string): FakeHostOptions["model"] {
  const headers = { "content-type": "application/json", "x-should-retry": "false" };
  return [{
    status,
    headers,
    body: JSON.stringify({ type: "error", error: { type, message: "no" } }),
  }];
}

function send(signal: StopSignal): Cause {
  return {
    args: ["--approve-all"],
    model: [WAIT],
    during: (host) => host.sendSignal(signal),
  };
}

/** A cause of each exit code. */
const CAUSES: Readonly<Record<number, Cause>> = {
  0: { model: [DONE] },
  1: { model: fail(400, "invalid_request_error") ?? [] },
  2: { args: ["--modle", "x"], hasNoResult: true },
  3: { model: fail(401, "authentication_error") ?? [] },
  4: { model: fail(402, "billing_error") ?? [] },
  5: { model: [WRITE], args: ["--max-turns", "1", "--approve-all"] },
  6: { model: [WRITE, DONE] },
  7: { model: [DONE], args: ["--patch", "PATCH"] },
  129: send("SIGHUP"),
  130: send("SIGINT"),
  131: send("SIGQUIT"),
  141: { ...send("SIGINT"), during: (host) => host.closeOutput(), hasNoResult: true },
  143: send("SIGTERM"),
};

async function run(
  { args = [], during, hasNoResult: _hasNoResult, ...options }: Cause,
  format: string,
) {
  await using directory = await createTemporaryDirectory({ "p/a.txt": "A" });
  const host = createFakeHost(options);
  const words = args.map((arg) => arg.replace("PATCH", `${directory.path}/a.patch`));
  const line = ["run", "--no-session", "--cwd", `${directory.path}/p`, "-o", format, ...words];
  const running = main([...line, "Hello"], host);
  let hasEnded = false;
  void running.then(() => hasEnded = true);
  if (during) {
    await waitUntil(() => host.requests.length > 0 || hasEnded);
    during(host);
  }
  return { code: await running, output: host.output };
}

Deno.test("exit codes: the matrix has every code", () => {
  assertEquals(Object.keys(CAUSES).map(Number), EXIT_CODES.map(([code]) => code));
});

for (const [code, cause] of Object.entries(CAUSES)) {
  Deno.test(`exit code: ${code} is that of the program and of its result in every format`, async () => {
    const text = await run(cause, "text");
    const json = await run(cause, "json");
    const lines = await run(cause, "stream-json");
    const expected = Number(code);
    assertEquals([text.code, json.code, lines.code], [expected, expected, expected]);
    const last = lines.output.trimEnd().split("\n").at(-1) ?? "";
    if (cause.hasNoResult) return;
    assertEquals(JSON.parse(json.output).exitCode, expected);
    assertEquals(JSON.parse(last).exitCode, expected);
    assertEquals(JSON.parse(last).type, "result");
  });
}
