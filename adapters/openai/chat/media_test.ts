import { assertEquals } from "@std/assert";
import { toChatPart } from "./media.ts";

Deno.test("toChatPart(): names the format of audio", () => {
  const convert = (mediaType: "audio/wav" | "audio/mpeg") =>
    toChatPart({ type: "audio", mediaType, source: { type: "base64", data: "AA==" } });
  assertEquals(convert("audio/wav"), {
    type: "input_audio",
    input_audio: { data: "AA==", format: "wav" },
  });
  assertEquals(convert("audio/mpeg"), {
    type: "input_audio",
    input_audio: { data: "AA==", format: "mp3" },
  });
});
