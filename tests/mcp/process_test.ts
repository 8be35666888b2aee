import * as clientPackage from "@modelcontextprotocol/client";
import { assert, assertEquals } from "@std/assert";
import { connectMcp, type McpConnection, type McpWarning } from "../../src/mcp/mod.ts";
import { waitUntil } from "../wait_until.ts";

/** Starts a shell script as a server, without waiting for it. */
function startScript(script: string, warnings: McpWarning[] = []): Promise<McpConnection> {
  const config = { mcpServers: { mock: { command: "sh", args: ["-c", script] } } };
  return connectMcp(config, {
    sandbox: "off",
    clientPackage,
    waitMs: 0,
    environment: { PATH: Deno.env.get("PATH") },
    onWarning: (warning) => warnings.push(warning),
  });
}

function isRunning(pid: string): boolean {
  try {
    Deno.kill(Number(pid), "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

Deno.test("process: close() ends a program that ignores SIGTERM, with its children", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_mcp_" });
  const file = `${directory}/pids`;
  const script =
    `trap '' TERM; sleep 1000 & echo $$ $! > ${file}.tmp; mv ${file}.tmp ${file}; wait`;
  const mcp = await startScript(script);
  let pids: string[] = [];
  await waitUntil(() => {
    try {
      pids = Deno.readTextFileSync(file).trim().split(" ");
      return true;
    } catch {
      return false;
    }
  });
  assertEquals(pids.map(isRunning), [true, true]);
  await mcp.close();
  await waitUntil(() => !pids.some(isRunning));
  await Deno.remove(directory, { recursive: true });
});

Deno.test("process: a program that floods both outputs does not block this one [8.15]", async () => {
  const warnings: McpWarning[] = [];
  const mcp = await startScript("yes error >&2 & yes garbage", warnings);
  await waitUntil(() => warnings.length > 0);
  let longest = 0;
  for (let count = 0; count < 50; count++) {
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve));
    longest = Math.max(longest, performance.now() - start);
  }
  assert(longest < 2_000, `a timer of 0 ms took ${longest} ms`);
  await mcp.close();
  assertEquals(warnings.map(({ message }) => message), [
    'The MCP server "mock" wrote a line to its output that is not JSON',
  ]);
});

Deno.test("process: a program that does not exist, and one that ends at once, state the reason", async () => {
  const config = { mcpServers: { absent: { command: "swink-no-such-program" } } };
  await using absent = await connectMcp(config, { sandbox: "off", clientPackage });
  const [status] = absent.servers;
  assert(status?.state.type === "restarting");
  assert(status.state.reason.includes("swink-no-such-program"), status.state.reason);
  await using ended = await startScript("echo no license >&2; exit 7");
  await waitUntil(() => ended.servers[0]?.state.type === "restarting");
  assertEquals(ended.servers[0]?.state, {
    type: "restarting",
    reason: "The server ended with exit code 7; its last output:\nno license",
  });
});
