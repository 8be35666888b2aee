import { assertEquals } from "@std/assert";
import { addToFileName, getModelFileName } from "./model_file_name.ts";

Deno.test("getModelFileName: has the provider if two models have the same id", () => {
  const models = ["openai/gpt-6", "azure/gpt-6", "ollama/llama3.2:1b"];
  assertEquals(models.map((model) => getModelFileName(model, models)), [
    "openai-gpt-6",
    "azure-gpt-6",
    "llama3.2-1b",
  ]);
});

Deno.test("addToFileName: keeps the extension and the directory", () => {
  assertEquals(addToFileName("/a.b/report.html", "x"), "/a.b/report.x.html");
  assertEquals(addToFileName("/a.b/report", "x"), "/a.b/report.x");
});
