// @ts-self-types="./to_text.d.ts"
export * from "npm:deno-std@^1.4.0/streams/to_text.js";
