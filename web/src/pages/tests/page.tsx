import { Page } from "../../frame/shell";

export default function TestsPage() {
  return <Page title="Tests">{null}</Page>;
}
