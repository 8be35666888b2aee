import { assert, assertEquals } from "@std/assert";
import { readPublicModules, root, runDeno } from "./project.ts";

const snapshot = new URL("public_api.json", import.meta.url);

/** The part of the output of `deno doc --json` that is read here. */
interface Documentation {
  nodes: Record<string, { symbols: { name: string; declarations: { kind: string }[] }[] }>;
}

/** Reads the exports of every public module with their kinds: `{ "./testing": ["collectEvents: function"] }`. */
async function readPublicApi(): Promise<Record<string, string[]>> {
  const modules = await readPublicModules();
  const { success, text } = await runDeno("doc", ["--quiet", "--json", ...Object.values(modules)]);
  assert(success, text);
  const { nodes }: Documentation = JSON.parse(text);
  const getSymbols = (path: string) => nodes[new URL(path, root).href]?.symbols ?? [];
  const entries = Object.entries(modules).map(([name, path]) =>
    [name, getSymbols(path).map(formatSymbol).toSorted()] as const
  );
  return Object.fromEntries(entries);
}

function formatSymbol(
  { name, declarations }: { name: string; declarations: { kind: string }[] },
): string {
  const kinds = new Set(declarations.map((declaration) => declaration.kind));
  return `${name}: ${[...kinds].join(", ")}`;
}

Deno.test("public API: the exports are those in tests/public_api.json", async () => {
  const api = await readPublicApi();
  if (Deno.args.includes("--update")) {
    await Deno.writeTextFile(snapshot, JSON.stringify(api, null, 2) + "\n");
  }
  assertEquals(
    api,
    JSON.parse(await Deno.readTextFile(snapshot)),
    "The public API changed. If intended, run: deno task test tests/public_api_test.ts -- --update",
  );
});
