import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import config from "../../../deno.json" with { type: "json" };
import { DOCUMENT_PACKAGES } from "./npm_package.ts";

/** A document with one page per text. */
function createPdf(...texts: readonly string[]): string {
  const pages = texts.map((text, index) => {
    const content = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
    const [page, stream] = [10 + index * 2, 11 + index * 2];
    return `${page} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents ${stream} 0 R` +
      `/Resources<</Font<</F1 5 0 R>>>>>>endobj\n` +
      `${stream} 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n`;
  });
  const kids = texts.map((_, index) => `${10 + index * 2} 0 R`).join(" ");
  return `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
    `2 0 obj<</Type/Pages/Kids[${kids}]/Count ${texts.length}>>endobj\n` +
    `5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n${pages.join("")}` +
    "trailer<</Root 1 0 R>>";
}

Deno.test("read_file: returns the text of the pages of a PDF document", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.pdf", createPdf("Hello PDF", "Second page"));
  const { text } = await workspace.callTool("read_file", { path: "a.pdf" });
  assertEquals(text, "1\t[Page 1]\n2\tHello PDF\n3\t\n4\t[Page 2]\n5\tSecond page");
  const part = await workspace.callTool("read_file", { path: "a.pdf", offset: 5 });
  assertStringIncludes(part.text, "5\tSecond page");
});

Deno.test("read_file: rejects a damaged PDF document and one without text with a reason", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("bad.pdf", "%PDF-1.4\nnothing");
  const bad = await workspace.callTool("read_file", { path: "bad.pdf" });
  assertEquals(bad.isError, true);
  assertStringIncludes(bad.text, "The PDF document cannot be read");
  workspace.writeFile("empty.pdf", createPdf(""));
  const empty = await workspace.callTool("read_file", { path: "empty.pdf" });
  assertStringIncludes(empty.text, "1 pages without text");
});

Deno.test("read_file: an abort ends the reading of a PDF document", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.pdf", createPdf("Hello PDF"));
  const controller = new AbortController();
  const call = workspace.callTool("read_file", { path: "a.pdf" }, controller.signal);
  setTimeout(() => controller.abort(), 0);
  assertStringIncludes((await call).text, "cancelled");
});

Deno.test("DOCUMENT_PACKAGES: are the packages of deno.json", () => {
  const imports: Readonly<Record<string, string>> = config.imports;
  for (const [name, range] of Object.entries(DOCUMENT_PACKAGES)) {
    assertEquals(imports[name], `npm:${name}@${range}`);
  }
});
