import { Page } from "../../frame/shell";

export default function AboutPage() {
  return <Page title="About">{null}</Page>;
}
