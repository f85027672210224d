import "./tests.css";

import type { PageProps } from "../../app";
import { List } from "./list";
import { RunView } from "./runview";

export default function TestsPage({ rest }: PageProps) {
  return rest ? <RunView key={rest} id={rest} /> : <List />;
}
