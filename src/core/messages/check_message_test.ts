import { assertEquals, assertStringIncludes } from "@std/assert";
import { findContentProblem, findMessageProblem } from "./check_message.ts";

/** A valid block of each form, with the names of the strings that it must have. */
const BLOCKS: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
  [{ type: "text", text: "Hi" }, ["text"]],
  [{ type: "thinking", thinking: "" }, ["thinking"]],
  [{ type: "tool_call", id: "1", name: "look", arguments: {} }, ["id", "name"]],
  [{ type: "extension", typeName: "app.note", data: 1 }, ["typeName"]],
  [{ type: "document", mediaType: "application/pdf", source: { type: "url", url: "/" } }, [
    "mediaType",
  ]],
  [{ type: "audio", mediaType: "audio/wav", source: { type: "url", url: "/" } }, ["mediaType"]],
  [{ type: "of a newer version" }, []],
];

/** A valid source of each form, with the names of the strings that it must have in an image. */
const SOURCES: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
  [{ type: "base64", mediaType: "image/png", data: "AQ==" }, ["mediaType", "data"]],
  [{ type: "url", url: "https://example.com/a" }, ["url"]],
  [{ type: "file", path: "a" }, ["path"]],
  [{ type: "provider_file", provider: "openai", id: "file_1" }, ["provider", "id"]],
];

for (const [block, names] of BLOCKS) {
  Deno.test(`findContentProblem() accepts a ${block["type"]} block, and misses each string that it must have`, () => {
    assertEquals(findContentProblem([block]), undefined);
    for (const name of names) {
      assertEquals(
        findContentProblem([{ ...block, [name]: 5 }]),
        `a block of type "${block["type"]}" must have a string ${name}, not 5`,
      );
    }
    assertStringIncludes(findContentProblem([block, { ...block, type: 5 }]) ?? "", "string type");
  });
}

for (const [source, names] of SOURCES) {
  Deno.test(`findContentProblem() accepts a ${source["type"]} source, and misses each string that it must have`, () => {
    const image = { type: "image", source };
    const media = ["document", "audio"].map((type) => ({ type, mediaType: "a/b", source }));
    assertEquals(findContentProblem([image, ...media]), undefined);
    for (const name of names) {
      const broken = { ...source, [name]: 5 };
      const words = `must have a string ${name}, not 5`;
      assertEquals(
        findContentProblem([{ type: "image", source: broken }]),
        `the source of a block of type "image" ${words}`,
      );
      if (name === "mediaType") continue;
      for (const block of media) {
        assertEquals(
          findContentProblem([{ ...block, source: broken }]),
          `the source of a block of type "${block.type}" ${words}`,
        );
      }
    }
  });
}

Deno.test("findMessageProblem() accepts each role, and misses the strings and the content that it must have", () => {
  const content = [{ type: "text", text: "Hi" }];
  const result = { role: "tool_result", toolCallId: "1", toolName: "look", content };
  const custom = { role: "custom", type: "note" };
  for (
    const message of [{ role: "user", content }, { role: "assistant", content }, result, custom]
  ) {
    assertEquals(findMessageProblem(message), undefined);
  }
  for (const role of ["user", "assistant"]) {
    assertStringIncludes(findMessageProblem({ role }) ?? "", "content must be an array");
  }
  for (const name of ["toolCallId", "toolName"]) {
    assertEquals(
      findMessageProblem({ ...result, [name]: undefined }),
      `a message of role "tool_result" must have a string ${name}, not undefined`,
    );
  }
  assertStringIncludes(findMessageProblem({ ...result, content: 5 }) ?? "", "not 5");
  assertStringIncludes(findMessageProblem({ ...custom, type: 5 }) ?? "", "a string type, not 5");
});
