import { assertEquals } from "@std/assert";
import { MediaConverter } from "./media.ts";

/** Returns the names that documents get in one request. */
function nameDocuments(...names: string[]): unknown[] {
  const converter = new MediaConverter({ citesDocuments: false });
  return names.map((name) => {
    const { document } = converter.convert({
      type: "document",
      name,
      mediaType: "application/pdf",
      source: { type: "base64", data: "AA==" },
    });
    return (document as { name: string }).name;
  });
}

Deno.test("MediaConverter: numbers documents of the same name from 2", () => {
  assertEquals(nameDocuments("report.pdf", "report.pdf", "report-pdf", "report.pdf"), [
    "report-pdf",
    "report-pdf (2)",
    "report-pdf (3)",
    "report-pdf (4)",
  ]);
});

Deno.test("MediaConverter: names have only the characters that Bedrock accepts, and few of them", () => {
  assertEquals(nameDocuments("a  b\t(c) [d]_e", "", "x".repeat(500)), [
    "a b (c) [d]-e",
    "document",
    "x".repeat(190),
  ]);
});
