// @ts-self-types="./delimiter_stream.d.ts"
export * from "npm:deno-std@^1.4.0/streams/delimiter_stream.js";
