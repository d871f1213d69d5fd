// Decoders of messages as a viewer builds them: from the schema a topic is advertised or recorded with.
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor/index.js";

export function decoder({ encoding, schemaName, schema }) {
  if (encoding === "cdr") {
    const reader = new MessageReader(parse(new TextDecoder().decode(schema), { ros2: true }));
    return (data) => reader.readMessage(data);
  }
  if (encoding === "protobuf") {
    const root = protobuf.Root.fromDescriptor(descriptor.FileDescriptorSet.decode(schema));
    root.resolveAll();
    const type = root.lookupType(schemaName);
    return (data) => type.toObject(type.decode(data), { enums: String, longs: Number });
  }
  throw new Error(`nobody decodes ${encoding}`);
}

export const plain = (value) =>
  JSON.parse(
    JSON.stringify(value, (_, v) => {
      if (typeof v === "bigint") return Number(v);
      if (ArrayBuffer.isView(v)) return v.length > 64 ? `${v.length} bytes` : Array.from(v, Number);
      if (typeof v === "number" && !Number.isFinite(v)) return String(v);
      return v;
    }),
  );
