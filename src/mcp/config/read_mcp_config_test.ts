import { assertEquals, assertRejects } from "@std/assert";
import { readMcpConfig } from "./read_mcp_config.ts";

async function readText(text: string) {
  const path = await Deno.makeTempFile({ suffix: ".mcp.json" });
  await Deno.writeTextFile(path, text);
  try {
    return await readMcpConfig(path);
  } catch (error) {
    throw new Error((error as Error).message.replace(path, "FILE"));
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("readMcpConfig(): reads a file, with its variables as they are", async () => {
  const config = { mcpServers: { fs: { command: "${BIN}" } } };
  assertEquals(await readText(JSON.stringify(config)), config);
});

Deno.test("readMcpConfig(): an error names the file and the key, and quotes no texts", async () => {
  const invalid = '{ "mcpServers": { "fs": { "command": 5 } } }';
  await assertRejects(
    () => readText(invalid),
    Error,
    "FILE: mcpServers.fs.command: must be a text, not 5",
  );
  await assertRejects(
    () => readText('{\n  "mcpServers": {\n    "key": secret\n  }\n}'),
    Error,
    "FILE: the file is not valid JSON",
  );
  await assertRejects(() => readText(""), Error, "FILE: the file is not valid JSON");
  await assertRejects(
    () => readMcpConfig("/nowhere/.mcp.json"),
    Error,
    "/nowhere/.mcp.json: the file does not exist",
  );
});
