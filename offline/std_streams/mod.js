// @ts-self-types="./mod.d.ts"
export { TextLineStream } from "./text_line_stream.js";
export { toText } from "./to_text.js";
