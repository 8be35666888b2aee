export { TextLineStream, type TextLineStreamOptions } from "./text_line_stream.d.ts";
export { toText } from "./to_text.d.ts";
