import { assertEquals, assertMatch } from "@std/assert";

async function check(file: string) {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--allow-read", new URL("check.ts", import.meta.url).href, file],
    stdin: "null",
    stdout: "null",
  }).output();
  return { code, error: new TextDecoder().decode(stderr) };
}

Deno.test("catalog:check: reports a file that cannot be read or is no price list in one line", async () => {
  const page = new URL("check.ts", import.meta.url).pathname;
  for (const file of [`${page}.missing`, page]) {
    const { code, error } = await check(file);
    assertEquals(code, 2);
    assertMatch(error, /^Cannot read the price list ".+": [^\n]+\n$/);
  }
});
