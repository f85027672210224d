import { Page } from "../../frame/shell";

export default function RunPage() {
  return <Page title="Run">{null}</Page>;
}
