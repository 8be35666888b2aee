import { assertEquals } from "@std/assert";
import { createHeader } from "../store/jsonl.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { decodeHeader, decodeSummary, encodeSummary } from "./session_columns.ts";

const about = { id: "s", created: 5, cwd: "/w", tenant: "acme", user: "amy" };
const header = createHeader({ ...about, metadata: { plan: "pro" } });
const summary = { ...SummaryBuilder.from(header).build(7), title: "T", firstPrompt: "P" };

Deno.test("decodeSummary(): restores an encoded summary, with the metadata of the header", () => {
  assertEquals(JSON.parse(encodeSummary(summary)).metadata, undefined);
  assertEquals(decodeSummary(encodeSummary(summary), header), summary);
});

Deno.test("decodeSummary(): rejects a summary with a member that is invalid or missing", () => {
  const names = Object.keys(summary).filter((name) => name !== "metadata");
  for (const name of names) {
    for (const value of [[], true]) {
      const text = JSON.stringify({ ...summary, [name]: value });
      assertEquals(decodeSummary(text, header), undefined, name);
    }
  }
  for (const name of ["id", "created", "updated", "entries", "messages", "leafId", "bytes"]) {
    assertEquals(
      decodeSummary(JSON.stringify({ ...summary, [name]: undefined }), header),
      undefined,
    );
  }
  const usage = { ...summary.usage, input: null };
  assertEquals(decodeSummary(JSON.stringify({ ...summary, usage }), header), undefined);
  for (const text of ["", "garbled", "null", "[]", "5", null, undefined]) {
    assertEquals(decodeSummary(text, header), undefined);
  }
});

Deno.test("decodeHeader(): omits members that are invalid", () => {
  assertEquals(decodeHeader(JSON.stringify(header), "s"), header);
  const forged = { ...header, cwd: [], tenant: 5, user: {}, metadata: "x", parent: 9, other: 1 };
  assertEquals(decodeHeader(JSON.stringify(forged), "s"), createHeader({ id: "s", created: 5 }));
  assertEquals(decodeHeader(JSON.stringify(header), "other"), undefined);
  for (const text of ['{"id":"s"}', '{"id":"s","created":"x"}', "garbled", "null", null]) {
    assertEquals(decodeHeader(text, "s"), undefined);
  }
  assertEquals(decodeHeader('{"id":"s","created":1e999}', "s")?.created, undefined);
});
