// @ts-self-types="./limited_bytes_transform_stream.d.ts"
export * from "npm:deno-std@^1.4.0/streams/limited_bytes_transform_stream.js";
